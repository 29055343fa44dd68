// node bench/submitClient.ts PORT CONNECTIONS BATCH: sends the next request after each response, on each connection
import { connect } from 'node:net'

const [port = 0, connections = 1, batch = 1] = process.argv.slice(2).map(Number)
const call = (id: number): object => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [`0x02f8${'ab'.repeat(112)}`] })
const body = JSON.stringify(batch === 1 ? call(1) : Array.from({ length: batch }, (_, id) => call(id)))
const head = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: */*\r\ncontent-length: ${body.length}\r\n\r\n`
const request = Buffer.from(head + body)

for (let i = 0; i < connections; i++) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request))
  let missing = 0
  socket.on('data', (data: Buffer) => {
    if (missing === 0) {
      const text = data.toString('latin1')
      missing = text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1])
    }
    missing -= data.length
    if (missing === 0) socket.write(request)
  })
  socket.on('error', () => process.exit(1))
}
