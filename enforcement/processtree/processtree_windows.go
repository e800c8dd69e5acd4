package processtree

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// parents takes one snapshot of the process table.
func parents() (int, lookup) {
	type process struct {
		parent int
		name   string
	}
	table := map[int]process{}
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err == nil {
		defer func() { _ = windows.CloseHandle(snapshot) }()
		entry := windows.ProcessEntry32{}
		entry.Size = uint32(unsafe.Sizeof(entry))
		for err := windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
			table[int(entry.ProcessID)] = process{int(entry.ParentProcessID), windows.UTF16ToString(entry.ExeFile[:])}
		}
	}
	return os.Getppid(), func(pid int) (Process, int, bool) {
		p, ok := table[pid]
		return Process{PID: pid, Name: p.name}, p.parent, ok
	}
}
