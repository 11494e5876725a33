package contract_test
import ("testing";"time";"net/url";"net";"io";"sync/atomic";"github.com/coursebridge/coursebridge/internal/apptest";"github.com/coursebridge/coursebridge/internal/store/storetest")
func TestZZ(t *testing.T){
 address,_ := url.Parse(storetest.Postgres(t))
 target := address.Host
 l,_ := net.Listen("tcp","127.0.0.1:0")
 var frozen atomic.Bool
 go func(){ for { in,err:=l.Accept(); if err!=nil {return}; out,err:=net.Dial("tcp",target); if err!=nil {in.Close();continue}
  cp:=func(to,from net.Conn){ b:=make([]byte,32768); for { n,err:=from.Read(b); for frozen.Load() { time.Sleep(10*time.Millisecond) }; if n>0 { to.Write(b[:n]) }; if err!=nil { to.Close(); from.Close(); return } } }
  go cp(out,in); go cp(in,out); _ = io.EOF } }()
 address.Host = l.Addr().String()
 f := newSuite(t, apptest.Start(t, apptest.Options{Database: address.String()}), newRecord()).firm(t)
 f.outage=true; f.client.Timeout=200*time.Second
 f.hire(t,"E1")
 frozen.Store(true)
 for _, p := range []string{"/employees/E1","/employees"} {
 s:=time.Now(); a:=f.send(t,"GET",p,""); t.Logf("%s: %d %s after %s", p, a.status, a.text, time.Since(s)) }
 s:=time.Now(); a:=f.send(t,"POST","/employees/provision",f.person("","","")); t.Logf("provision: %d %s after %s", a.status, a.text, time.Since(s))
 frozen.Store(false)
 s=time.Now(); for { a=f.send(t,"GET","/employees/E1",""); if a.status==200 {break} }; t.Logf("back after %s", time.Since(s))
 l.Close()
}
