// Package knownnames says what programs and environment variables are known to do, by their names:
// which programs run other programs or fetch from the network, and which variables make a program
// run something else. A variable that is not listed is treated as one that makes a program run
// something else.
package knownnames
