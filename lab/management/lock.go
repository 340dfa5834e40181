package management

import (
	"errors"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// lockLab keeps other commands from starting or stopping the lab until the result is closed. Two commands that start a lab would install
// providers twice, and store two sets of passwords of which the processes have a mixture.
func lockLab(s *settings.Settings) (io.Closer, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := files.Lock(s.JoinPath("lock"))
	if locked := (*files.LockedError)(nil); errors.As(err, &locked) {
		return nil, fmt.Errorf("another lab command, process %d, starts or stops the lab in %s. Wait until it ends, or end it, and try again",
			locked.PID, s.Dir)
	}
	return lock, err
}
