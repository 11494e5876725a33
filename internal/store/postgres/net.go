package postgres

import (
	"errors"
	"io"
	"net"
)

func isNet(err error) bool {
	var op net.Error
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
