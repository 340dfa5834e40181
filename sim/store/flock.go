//go:build unix && !solaris && !illumos && !aix

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

const lockFile = "lock"

// lockDirectory keeps other processes out of a state directory: two would write into the same journal. The kernel releases the lock when
// the process ends, also when it is killed.
func lockDirectory(dir string) (io.Closer, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another simulator uses it; stop that simulator or choose another directory")
	}
	return nil, errors.Join(fmt.Errorf("state directory %s: %w", dir, err), file.Close())
}
