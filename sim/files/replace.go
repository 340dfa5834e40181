package files

import "os"

// Replace writes a file at once: another process reads the former content or the new one, and a disk that is full leaves no part of it,
// which a later start would take for the whole.
func Replace(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(path+".new", content, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
