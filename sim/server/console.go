package server

import (
	"fmt"
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// maxConsole is the length of a serial console log. Azure keeps the end of a longer one; its length is an assumption.
const maxConsole = 1 << 20

// firmware begins each serial console log.
const firmware = "[    0.000000] Linux version 6.8.0-azure (simulated)\r\n"

// appendConsole adds text to the serial console of a VM, with the line ends of a terminal.
func appendConsole(tx *store.Tx, vmID, text string) {
	if text == "" {
		return
	}
	log := ""
	tx.ReadNote(compute.ConsoleKey(vmID), &log)
	log += strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\r\n") + "\r\n"
	tx.SetMeta(compute.ConsoleKey(vmID), log[max(0, len(log)-maxConsole):])
}

// serveConsole answers with the serial console log of a VM at the URI of its boot diagnostics. Its signature stands for the credential.
func (s *Server) serveConsole(w http.ResponseWriter, r *http.Request) bool {
	name, is := strings.CutPrefix(r.URL.Path, compute.BlobRoot)
	if !is {
		return false
	}
	vmID, is := strings.CutSuffix(name, ".serialconsole.log")
	vm := s.guests.findVM(vmID)
	switch {
	case r.Method != http.MethodGet || r.URL.Query().Get("sig") == "":
		http.Error(w, "AuthenticationFailed", http.StatusForbidden)
	case !is || vm == nil:
		http.Error(w, "BlobNotFound", http.StatusNotFound)
	default:
		log := ""
		s.store.View(func(tx *store.Tx) { tx.ReadNote(compute.ConsoleKey(vmID), &log) })
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = fmt.Fprint(w, firmware, log)
	}
	return true
}
