// node bench/rpc/client.ts URL FILE CONNECTIONS SECONDS measure|check SEED [HEADER]: does the same as wrk.lua, for machines without wrk.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dice } from '#test/harness/dice'
import type { Load } from './load.ts'

const [url = '', file = '', connections = '1', seconds = '1', way = 'measure', seed = '1', header = ''] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const added = header === '' ? '' : `${header}: 1\r\n`
const requests = readFileSync(file, 'utf8')
  .split('\n')
  .map((body) =>
    Buffer.from(
      `POST / HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n${added}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  )
const below = dice(Number(seed))
const times: number[] = []
let [bytes, failed, wrong, sample] = [0, 0, 0, '']
const beginMs = performance.now()
const endMs = beginMs + Number(seconds) * 1_000

/** Returns the length of a response in bytes; undefined while it is unknown. Chunked responses end with their last chunk. */
function lengthOf(text: string): number | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const length = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1]
  if (length !== undefined) return headEnd + 4 + Number(length)
  const last = text.indexOf('\r\n0\r\n\r\n', headEnd)
  return last < 0 ? undefined : last + 7
}

function look(text: string): void {
  const isGood =
    /^HTTP\/1\.1 200/.test(text) && !/\r\n\r\n(?:[0-9a-f]+\r\n)?\{[^{]{0,80}"error"/.test(text) && !/"result":null\}\s*$/.test(text)
  if (isGood) return
  wrong++
  sample = text.slice(-200)
}

for (let i = 0; i < Number(connections); i++) {
  let sentMs = 0
  let text = ''
  let missing: number | undefined
  const send = (): void => {
    sentMs = performance.now()
    if (sentMs > endMs) socket.destroy()
    else socket.write(requests[below(requests.length)] ?? '')
  }
  const socket = connect({ port: Number(port), host: hostname, noDelay: true }, send)
  socket.on('data', (data: Buffer) => {
    bytes += data.length
    if (missing === undefined || way === 'check') {
      text += data.toString('latin1')
      const length = lengthOf(text)
      missing = length === undefined ? undefined : length - text.length
    } else missing -= data.length
    if (missing === undefined || missing > 0) return
    times.push(performance.now() - sentMs)
    if (way === 'check') look(text)
    text = ''
    missing = undefined
    send()
  })
  socket.on('error', () => failed++)
}

process.on('exit', () => {
  const sorted = times.sort((a, b) => a - b)
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  const sec = (performance.now() - beginMs) / 1_000
  const load: Load = { requests: times.length, sec, bytes, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), failed, wrong, sample }
  process.stdout.write(`${JSON.stringify(load)}\n`)
})
