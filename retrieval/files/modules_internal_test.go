package files

import "testing"

func TestEscaped(t *testing.T) {
	if got := escaped("github.com/DataDog/zstd"); got != "github.com/!data!dog/zstd" {
		t.Error(got)
	}
}
