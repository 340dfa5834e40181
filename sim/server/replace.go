package server

import "os"

// replaceFile writes a file at once: a disk that is full leaves no part of it, which a later start would take for the whole.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(path+".new", content, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
