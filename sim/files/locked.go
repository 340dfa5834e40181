package files

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// LockedError means that another process, or another caller in this one, has the lock.
type LockedError struct {
	// PID is the process, 0 if it is not known.
	PID int
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return "another process has locked it"
	}
	return fmt.Sprintf("process %d has locked it", e.PID)
}

// writeOwner stores this process in the file of a lock, for the message of those who find it locked.
func writeOwner(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readOwner(path string) int {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}
