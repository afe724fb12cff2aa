package nodes

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// Digest returns a digest of settings. Its key is known to all nodes only, so that a reader of the
// digest cannot guess the settings by trying. Fields that are not set are left out, so that a newer
// program with more fields has the same digest. Fields that are not exported are left out, because
// they contain secrets.
func Digest(key []byte, what string, settings any) string {
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "floodmark what a node runs by 1\n%s\n", what) // it never fails
	write(mac, reflect.ValueOf(settings))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// write writes a value so that different values are written differently.
func write(w io.Writer, v reflect.Value) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	switch v.Kind() {
	case reflect.Invalid:
		say("none;")
	case reflect.Pointer, reflect.Interface:
		say("*")
		write(w, v.Elem())
	case reflect.Struct:
		say("{")
		for field, value := range v.Fields() {
			if field.IsExported() && !value.IsZero() {
				say("%s=", field.Name)
				write(w, value)
			}
		}
		say("}")
	case reflect.Map:
		say("map %d:", v.Len())
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			write(w, k)
			write(w, v.MapIndex(k))
		}
	case reflect.Slice, reflect.Array:
		say("list %d:", v.Len())
		for i := range v.Len() {
			write(w, v.Index(i))
		}
	case reflect.String:
		say("%d:%s;", v.Len(), v.String())
	default:
		say("%v;", v)
	}
}
