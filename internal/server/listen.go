package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	// unixPrefix begins the address of a Unix socket.
	unixPrefix = "unix:"
	// systemdAddress stands for the sockets that systemd has opened for the process.
	systemdAddress = "systemd"
	// firstSystemdFile is the first of systemd's file descriptors.
	firstSystemdFile = 3
)

// listenAll opens all addresses, or none.
func listenAll(addresses []string, secure *tls.Config) ([]net.Listener, error) {
	var out []net.Listener
	for _, address := range addresses {
		opened, err := listen(address, secure)
		if err != nil {
			closeAll(out)
			return nil, err
		}
		out = append(out, opened...)
	}
	if len(out) == 0 {
		return nil, errors.New("there is no address to listen on; name one with --listen")
	}
	return out, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close() // there is nothing to lose in a listener
	}
}

// listen opens one address. Connections over TCP are encrypted if secure is not nil.
func listen(address string, secure *tls.Config) ([]net.Listener, error) {
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		l, err := listenUnix(path)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", address, err)
		}
		return []net.Listener{errorBodyListener{l}}, nil
	}
	opened, err := listenTCP(address)
	if err != nil {
		return nil, err
	}
	for i, l := range opened {
		if secure != nil && l.Addr().Network() == "tcp" {
			l = tls.NewListener(l, secure)
		}
		opened[i] = errorBodyListener{l}
	}
	return opened, nil
}

// listenTCP opens a TCP address, or takes the sockets that systemd has opened.
func listenTCP(address string) ([]net.Listener, error) {
	if address == systemdAddress {
		return systemdListeners()
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: the port is in use by another program; stop it or choose another --listen", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: not permitted; ports below 1024 need extra privileges; choose another --listen", address)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w; write --listen as host:port, unix:/path or systemd", address, err)
	}
	return []net.Listener{l}, nil
}

// listenUnix opens a Unix socket that its owner and group can use. It replaces the
// socket of a server that was killed, but not one that somebody listens on.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, errors.New("the file exists and is not a socket; choose another --listen")
		}
		if c, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path); err == nil {
			_ = c.Close()
			return nil, errors.New("the socket is in use by another program; stop it or choose another --listen")
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// systemdListeners returns the sockets that systemd has passed to this process.
func systemdListeners() ([]net.Listener, error) {
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || n < 1 || os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, errors.New("listen on systemd: systemd has passed no socket; start the program by a socket unit")
	}
	var out []net.Listener
	for fd := firstSystemdFile; fd < firstSystemdFile+n; fd++ {
		l, err := duplicateListener(fd)
		if err != nil {
			closeAll(out)
			return nil, fmt.Errorf("listen on systemd: socket %d: %w", fd, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// duplicateListener returns a listener on a copy of the descriptor, which itself stays
// open, so that the socket can be taken again.
func duplicateListener(fd int) (net.Listener, error) {
	duplicate, err := syscall.Dup(fd)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(duplicate), "systemd socket")
	l, err := net.FileListener(file)
	return l, errors.Join(err, file.Close())
}
