package provenance

import "strings"

// addListed adds the elements of a list that a program has printed into a
// string: «"['ada', 'ben']"». Of any other string it adds nothing. The author of
// such a string gains nothing, because they could have written each element into
// this field anyway.
func (r *fieldReader) addListed(name, value string, at int) bool {
	for _, e := range listed(value) {
		if !r.add(name, value[e[0]:e[1]], at+e[0]) {
			return false
		}
	}
	return true
}

// listed returns where each element of a printed list of strings begins and ends.
func listed(value string) [][2]int {
	if len(value) < 2 || value[0] != '[' || value[len(value)-1] != ']' {
		return nil
	}
	var list [][2]int
	for at, end := 1, len(value)-1; at < end; {
		quote := value[at]
		if quote != '"' && quote != '\'' {
			return nil
		}
		n := strings.IndexByte(value[at+1:end], quote)
		if n < 0 || strings.IndexByte(value[at+1:at+1+n], '\\') >= 0 {
			return nil
		}
		list = append(list, [2]int{at + 1, at + 1 + n})
		if at += n + 2; at == end {
			return list
		}
		if !strings.HasPrefix(value[at:end], ", ") {
			return nil
		}
		if at += len(", "); at == end {
			return nil
		}
	}
	return list
}
