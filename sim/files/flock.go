//go:build unix && !solaris && !illumos && !aix

package files

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Lock locks a file, which it creates, until the result is closed. The error is a LockedError if another process has the lock. The kernel
// releases it when the process ends, also when it is killed. Programs that the process starts do not inherit it.
func Lock(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = &LockedError{PID: readOwner(path)}
	}
	if err == nil {
		err = writeOwner(file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
