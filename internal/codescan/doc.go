// Package codescan says what a piece of program text can do at most: which
// files a whole program reads, writes and deletes, and whether source text
// that was put into a file can do anything but compute.
//
// It is made for text that an attacker may have had written, with this source
// at hand. Names of the language, modules and what is used of them must be on
// a list; a text with anything else in it is not understood. It runs nothing,
// looks at no disk, and follows values only as far as literals go. A text that
// its language would refuse may be called harmless, since it does nothing.
package codescan
