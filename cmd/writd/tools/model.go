package tools

import (
	"context"
	"errors"
	"io"
)

// modelTrain says where training is.
func modelTrain(context.Context, []string, io.Writer, io.Writer) error {
	return errors.New("training is a program of its own, which is not installed: go run github.com/writbus/writ/cmd/writ-train@latest --help")
}
