package shell

import "strings"

// guard puts a second look before programs that are readers but for an option
// that few know: one that names a file to write, a program to run or code to
// load.
func (f family) guard() {
	for names, options := range map[string][]string{
		"ss":              {"-D", "--diag"},
		"nm size objdump": {"--plugin"},
		"bat batcat":      {"--pager", "--generate-config-file", "--build"},
		"delta":           {"--pager"},
		"tree":            {"-R"},
		"info":            {"-o", "--output", "--dribble", "--restore"},
		"cloc":            {"--out", "--report-file", "--report_file", "--sql*", "--found", "--ignored", "--counted", "--categorized", "--write-lang-def*", "--extract-with", "--config", "--diff-list-file"},
		"scc":             {"-o", "--output", "--format-multi"},
		"tokei":           {"--config"},
		"htmlq":           {"-o", "--output"},
		"ncdu":            {"-o", "-O"},
		"ag ack pt":       {"--pager*", "--ackrc"},
		"sift":            {"-o", "--output"},
		"lsof":            {"-D"},
		"dmesg":           {"-C", "-c", "--clear", "--read-clear"},
	} {
		f.guarded(careful("an option writes a file, runs a program or loads code", options...), strings.Fields(names)...)
	}
	// With -G the second name is the file to write.
	f.guarded(func(c *call) { c.unsureIf(c.given("-G", "--traditional"), "writes its second name") }, "ptx")
}
