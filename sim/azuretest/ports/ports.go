// Package ports finds free ports. A test passes them to a program that it starts, as the value of a flag such as --health-addr.
//
// Its promise: until the test ends, no other test gets the port, in this process or another, and neither does an outgoing connection. The
// ports are below those that Linux, macOS and Windows give to outgoing connections: a port that was found there by listening and closing
// again is often taken before the program listens.
package ports

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
)

// The ports of both functions. Linux gives outgoing connections those from 32,768 (ip(7), ip_local_port_range). Below are the ports of the lab
// that end-to-end specs start, from 19,000.
const (
	firstOfBlocks, firstOfSingles, end = 20000, 31000, 32768
)

// probed is how many ports at the beginning of a block have to be free. A lab uses fewer.
const probed = 32

// next is where the search begins: a port that has just been given back may still have connections.
var next struct {
	sync.Mutex
	single, block int
}

// Free returns an address of this machine, as in 127.0.0.1:31000.
func Free(tb testing.TB) string {
	tb.Helper()
	next.Lock()
	defer next.Unlock()
	return "127.0.0.1:" + strconv.Itoa(find(tb, firstOfSingles, end, 1, 1, &next.single))
}

// Block returns the first of so many consecutive ports. Only the first 32 of them are known to be free.
func Block(tb testing.TB, size int) int {
	tb.Helper()
	next.Lock()
	defer next.Unlock()
	return find(tb, firstOfBlocks, firstOfSingles, size, min(size, probed), &next.block)
}

// find tries the blocks of a range in their order, and begins where other processes are unlikely to.
func find(tb testing.TB, first, end, size, probed int, begin *int) int {
	tb.Helper()
	blocks := (end - first) / size
	if *begin == 0 {
		*begin = os.Getpid()
	}
	for range blocks {
		base := first + *begin%blocks*size
		*begin++
		if reserve(tb, base, probed) {
			return base
		}
	}
	tb.Fatalf("no %d consecutive free ports between %d and %d: stop the programs that listen there", size, first, end-1)
	return 0
}

// reserve keeps the UDP port for the test, which keeps other processes that ask here away and leaves the TCP port to the program.
func reserve(tb testing.TB, base, probed int) bool {
	kept, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", base))
	if err != nil {
		return false
	}
	for port := base; port < base+probed; port++ {
		// At all addresses, because programs listen there too.
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			_ = kept.Close()
			return false
		}
		_ = listener.Close()
	}
	tb.Cleanup(func() { _ = kept.Close() })
	return true
}
