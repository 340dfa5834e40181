package ports

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// inOtherProcess has the program of the test print the port that it gets when it begins to search at this one.
const inOtherProcess = "PORTS_FROM"

func TestFree(t *testing.T) {
	if from := os.Getenv(inOtherProcess); from != "" {
		if _, err := fmt.Sscan(from, &next.single); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("got %s\n", Free(t))
		return
	}
	seen := map[string]bool{}
	for range 100 {
		address := Free(t)
		if seen[address] {
			t.Fatalf("%s twice", address)
		}
		seen[address] = true
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		var port int
		if _, err := fmt.Sscanf(address, "127.0.0.1:%d", &port); err != nil || port >= 32768 {
			t.Fatalf("%s, %v: Linux gives outgoing connections the ports from 32768", address, err)
		}
	}
}

// TestOtherProcesses lets another process check the port of this one first, while no program listens there.
func TestOtherProcesses(t *testing.T) {
	address := Free(t)
	command := exec.Command(os.Args[0], "-test.run=TestFree")
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", inOtherProcess, next.single-1))
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "got 127.0.0.1:") {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "got "+address+"\n") {
		t.Errorf("another process got %s too", address)
	}
}

// TestGivenBack asks for more ports than there are, one test after the other.
func TestGivenBack(t *testing.T) {
	for range 2 * (firstOfSingles - firstOfBlocks) / 1000 {
		t.Run("block", func(t *testing.T) {
			taken := Block(t, 1000)
			listener, err := net.Listen("tcp", fmt.Sprintf(":%d", taken+probed-1))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			if other := Block(t, 1000); other == taken {
				t.Errorf("block %d twice", taken)
			}
		})
	}
}

// TestBlockInUse leaves out a block in which something listens.
func TestBlockInUse(t *testing.T) {
	base := Block(t, 1000)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", base+probed-1))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if reserve(t, base+1, probed) {
		t.Error("a block in which a program listens was given away")
	}
}
