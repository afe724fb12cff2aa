package pushreview

import "slices"

// maxCells bounds the table by which two files are compared. Beyond it all lines between the common
// beginning and end are shown as removed and added.
const maxCells = 4 << 20

// around is how many equal lines are shown around a difference.
const around = 3

// diff compares two files by lines.
func diff(was, now []byte) (lines []line, plus, minus int) {
	a, b := split(was), split(now)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var all []line
	put := func(sign string, list []string) {
		for _, text := range list {
			all = append(all, line{sign, text})
		}
	}
	put(" ", a[:head])
	all = append(all, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	put(" ", a[len(a)-tail:])
	for _, l := range all {
		plus, minus = plus+one(l.sign == "+"), minus+one(l.sign == "-")
	}
	return near(all), plus, minus
}

// middle finds the longest common lines.
func middle(a, b []string) (out []line) {
	put := func(sign string, list []string) {
		for _, text := range list {
			out = append(out, line{sign, text})
		}
	}
	width := len(b) + 1
	if (len(a)+1)*width > maxCells {
		put("-", a)
		put("+", b)
		return out
	}
	common := make([]int32, (len(a)+1)*width) // common[i*width+j] is the length for a[i:] and b[j:]
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			put(" ", a[i:i+1])
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			put("-", a[i:i+1])
			i++
		default:
			put("+", b[j:j+1])
			j++
		}
	}
	put("-", a[i:])
	put("+", b[j:])
	return out
}

// near keeps the lines that differ, with a few lines around each.
func near(all []line) (out []line) {
	last := -around - 1 // the last line that differs
	next := make([]int, len(all))
	for i, at := len(all)-1, len(all)+around+1; i >= 0; i-- {
		if all[i].sign != " " {
			at = i
		}
		next[i] = at
	}
	left := false
	for i, l := range all {
		if l.sign != " " {
			last = i
		}
		keep := i-last <= around || next[i]-i <= around
		switch {
		case keep:
			out = append(out, l)
		case !left:
			out = append(out, line{})
		}
		left = !keep
	}
	return out
}
