package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// listen opens the socket that the flags ask for, and says how it is reached.
func listen(o options) (l net.Listener, address string, err error) {
	if o.unix != "" {
		l, err = net.Listen("unix", o.unix)
		address = "unix:" + o.unix + ":"
	} else if err = onlyLoopback(o.addr); err == nil {
		l, err = net.Listen("tcp", o.addr)
		if err == nil {
			address = "http://" + l.Addr().String()
		}
	}
	if err != nil || !o.tls {
		return l, address, err
	}
	certificate, err := selfSigned(o.caFile)
	if err != nil {
		l.Close()
		return nil, "", err
	}
	if o.unix == "" {
		address = "https://" + l.Addr().String()
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}}), address, nil
}

// onlyLoopback refuses addresses that other hosts could reach.
func onlyLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s is no loopback address", addr)
	}
	return nil
}

// selfSigned makes a certificate for loopback names, good for a day, and writes it
// to a file if one is named.
func selfSigned(file string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "exposition"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if file != "" {
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return tls.Certificate{}, err
		}
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
