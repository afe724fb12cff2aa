module github.com/floodmark/floodmark/lab

go 1.26.0

replace github.com/floodmark/floodmark => ../
