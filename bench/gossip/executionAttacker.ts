// node bench/gossip/executionAttacker.ts ENODE ROLLUP_FILE: attacks a node over RLPx, in turns of a second: as many requests for headers as are answered, requests
// without waiting for answers, small messages, and bytes that are no handshake. It connects again, with another identity and address, when the node closes
// its connection. Runs until it is ended; prints the number of messages sent so far, once a second.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { attack } from '#test/harness/executionPeers/attacker'
import { encodeGetHeaders, ethMessage } from '../../src/executionPeers/eth/messages.ts'
import { parseNode } from '../../src/executionPeers/net/nodeId.ts'

const [enode = '', rollupFile = ''] = process.argv.slice(2)
const { config } = parseRollupConfig(JSON.parse(readFileSync(rollupFile, 'utf8')))
const { host, tcpPort } = parseNode(enode)
const turnMs = 1_000
/** Messages of a burst, with a pause after it. */
const [burst, pauseMs] = [50, 10]

let sent = 0
const request = (): Uint8Array => encodeGetHeaders(sent++, { origin: 1, amount: 1_024, skip: 0, isReverse: false })
/** An announcement of no transactions; announcements are not read. */
const announcement = (): Uint8Array => {
  sent++
  return Uint8Array.of(0xc0)
}
async function forOneTurn(run: (fromMs: number) => Promise<void>): Promise<void> {
  const fromMs = performance.now()
  while (performance.now() - fromMs < turnMs) await run(fromMs).catch(() => delay(pauseMs))
}

/** Connects and sends bursts until the node closes the connection, or the turn ends. */
async function flood(from: string, fromMs: number, message: number, body: () => Uint8Array): Promise<void> {
  const peer = await attack(enode, config, { from })
  let isEnded = false
  void peer.ended.then(() => {
    isEnded = true
  })
  await peer.status
  while (!isEnded && performance.now() - fromMs < turnMs) {
    for (let i = 0; i < burst; i++) peer.send(message, body())
    await delay(pauseMs)
  }
  peer.socket.destroy()
}

/** Sends a request with each answer. */
async function requests(from: string): Promise<void> {
  const peer = await attack(enode, config, {
    from,
    onMessage: (message) => message === ethMessage.blockHeaders && peer.send(ethMessage.getBlockHeaders, request()),
  })
  await peer.status
  peer.send(ethMessage.getBlockHeaders, request())
  await Promise.race([peer.ended, delay(turnMs)])
  peer.socket.destroy()
}

async function noise(from: string): Promise<void> {
  const socket = connect({ host, port: tcpPort, localAddress: from })
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write(randomBytes(400))
  sent++
  await Promise.race([once(socket, 'close'), delay(pauseMs)])
  socket.destroy()
}

setInterval(() => process.stdout.write(`${sent}\n`), 1_000)
for (let turn = 0; ; turn++) {
  const from = `127.0.1.${1 + (turn % 200)}`
  await forOneTurn(() => requests(from))
  await forOneTurn((fromMs) => flood(from, fromMs, ethMessage.getBlockHeaders, request))
  await forOneTurn((fromMs) => flood(from, fromMs, 8, announcement))
  await forOneTurn(() => noise(from))
}
