// node bench/rpc/bareServer.ts: the reference: `node:http` that reads the body and returns a constant. Prints its port, and runs until it is killed.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const answer = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"0x2a"}')
const head = { 'content-type': 'application/json', 'content-length': answer.length }
const server = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () => response.writeHead(200, head).end(answer))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
