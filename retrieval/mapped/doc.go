// Package mapped keeps values that never change in one file, which is mapped
// into memory: what is read of it is in the system's cache of files, which the
// system takes back when it needs the room, and not in the heap.
//
// A value is found by its [Sum]. A file is written whole beside the old one,
// takes its place at once, and is never written again; opening it checks every
// byte. What cannot be opened is to be written anew from where the values came
// from: a file is a copy, never a source.
//
// What is mapped is a copy without a name, so that whoever cuts the file short,
// or writes into it, changes nothing that was opened. It does not guard against a
// disk that fails, whose pages end the process that reads them, as those of the
// program's own file do.
//
// Values are memory of the mapping, which lives as long as the process: nobody
// can tell which strings still point into it.
//
// [Keep] does the same for bytes that this process alone needs; its caller says
// when nothing points into them any more, and guards its reads against a disk
// that fails.
package mapped
