package daemon

import (
	"reflect"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/dialect"
)

func TestEveryLimitCanBeSet(t *testing.T) {
	if got := limitsOf(config.Limits{}); got != dialect.DefaultLimits() {
		t.Errorf("nothing set: %+v", got)
	}
	var set config.Limits
	fields := reflect.ValueOf(&set).Elem()
	for i := range fields.NumField() {
		fields.Field(i).SetInt(int64(i) + 1)
	}
	got := reflect.ValueOf(limitsOf(set))
	if got.NumField() != fields.NumField() {
		t.Errorf("%d limits, %d settings", got.NumField(), fields.NumField())
	}
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if got.FieldByName(name).Int() != int64(i)+1 {
			t.Errorf("%s is not taken", name)
		}
	}
}
