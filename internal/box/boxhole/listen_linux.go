package boxhole

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Listen makes the listener of a proxy on the loopback of a box. It is called inside the box, hands
// the listener to the outside through a socket, and keeps no copy. It returns the proxy's address.
func Listen(outside int) (at string, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return "", err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return "", err
	}
	own, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return "", fmt.Errorf("the proxy listens on %T", name)
	}
	if err := unix.Sendmsg(outside, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
		return "", err
	}
	return "http://127.0.0.1:" + strconv.Itoa(own.Port), nil
}

// Variables returns the environment variables that tell programs to use a proxy, except for
// addresses on the loopback.
func Variables(proxy string) (env []string) {
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+proxy)
	}
	const here = "localhost,127.0.0.1,::1"
	return append(env, "no_proxy="+here, "NO_PROXY="+here, "NODE_USE_ENV_PROXY=1")
}

// Receive returns the listener that [Listen] made inside the box. It listens in the box's own
// network, although this process has it.
func Receive(inside *os.File) (net.Listener, error) {
	conn, err := net.FileConn(inside)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("the inside of the box is not at the other end of a socket")
	}
	rights := make([]byte, unix.CmsgSpace(4)) // one descriptor
	_, n, _, _, err := socket.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("the box handed out no listener"), err)
	}
	list, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(list) != 1 {
		return nil, errors.Join(errors.New("the box handed out no listener"), err)
	}
	unix.CloseOnExec(list[0])
	file := os.NewFile(uintptr(list[0]), "proxy")
	defer file.Close()
	return net.FileListener(file)
}
