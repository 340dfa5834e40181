package identity

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxFile bounds what is read of a file: a certificate with its chain and key takes a few KiB.
const maxFile = 1 << 20

// readFile reads a regular file of at most maxFile bytes. Whoever makes an identity chooses the path: devices and pipes have no
// end, or wait for somebody to write.
func readFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", path, info.Size(), maxFile)
	}
	// A file of the kernel may say that it is empty and have no end.
	content, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, err
	}
	return content, nil
}
