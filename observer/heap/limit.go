package heap

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
)

// room is how much of what is in use is left free above it, at least: with
// less, the collector runs for every few megabytes, and takes half of the
// processor.
const room = 0.25

// KeepRoom sets the limit of the heap: the one of the settings, or so much
// more that what is in use has room. It is called from time to time.
func KeepRoom(setting int64) {
	if setting <= 0 {
		return
	}
	read := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(read)
	value := func(i int) int64 {
		if read[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(min(read[i].Value.Uint64(), math.MaxInt64/4))
	}
	live, beside := value(0), value(1)-value(2)-value(3)-value(4)-value(5)
	debug.SetMemoryLimit(limit(setting, live, max(beside, 0)))
}

// limit is the limit for so many bytes in use, and so many that the runtime
// takes beside the heap and counts.
func limit(setting, live, beside int64) int64 {
	return max(setting, live+int64(room*float64(live))+beside)
}
