package identity

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile is the largest size of a file in bytes.
const maxFile = maxCertificateBytes

// readFile reads a regular file of at most maxFile bytes in folder, or in any folder if that is "". The author of an identity
// chooses the path, so it may be a device or pipe that has no end or blocks, or a file that is no certificate.
func readFile(folder, path string) ([]byte, error) {
	file, err := openIn(folder, path)
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
	// Kernel files may report size 0 and have no end.
	content, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, err
	}
	return content, nil
}

// openIn opens a file in folder. It follows symbolic links that stay in the folder, as those of mounted Secrets do.
func openIn(folder, path string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if folder == "" {
		return os.OpenFile(path, flags, 0)
	}
	within, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(within) {
		return nil, fmt.Errorf("%s is not in %s, the folder of the manager's flag --%s", path, folder, CertificateFolderFlag)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenFile(within, flags, 0)
}
