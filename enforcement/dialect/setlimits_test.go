package dialect

import (
	"reflect"
	"testing"
)

func TestEveryLimitCanBeSet(t *testing.T) {
	if got := (Limits{}).OrDefault(); got != DefaultLimits() {
		t.Errorf("nothing set: %+v", got)
	}
	var set Limits
	fields := reflect.ValueOf(&set).Elem()
	for i := range fields.NumField() {
		fields.Field(i).SetInt(int64(i) + 1)
	}
	got := reflect.ValueOf(set.OrDefault())
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if got.FieldByName(name).Int() != int64(i)+1 {
			t.Errorf("%s is not taken", name)
		}
	}
}
