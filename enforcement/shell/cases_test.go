package shell

var ownCases = []struct{ command string }{}
