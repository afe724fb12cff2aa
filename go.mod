module github.com/floodmark/floodmark

go 1.26.0
