package identity

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile bounds what is read of a file: a certificate with its chain and key takes a few KiB.
const maxFile = 1 << 20

// readFile reads a regular file of at most maxFile bytes in folder, "" for any. Whoever makes an identity chooses the path:
// devices and pipes have no end, or wait for somebody to write, and other files are not certificates of anybody's.
func readFile(folder, path string) ([]byte, error) {
	file, err := open(folder, path)
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

// open opens a file in folder. Links are followed as long as they stay in it: those of mounted Secrets do.
func open(folder, path string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if folder == "" {
		return os.OpenFile(path, flags, 0)
	}
	within, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(within) {
		return nil, fmt.Errorf("%s is not in %s, which --%s of the manager says", path, folder, CertificateFolderFlag)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenFile(within, flags, 0)
}
