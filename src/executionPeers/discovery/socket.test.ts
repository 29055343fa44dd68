import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { until } from '#test/harness/executionPeers/nodes'
import { DiscoverySocket } from './socket.ts'

async function senderAt(ip: string) {
  const sender = createSocket('udp4')
  sender.bind(0, ip)
  await once(sender, 'listening')
  return sender
}

it('executionPeers/discovery/socket: reads packets of other addresses while one sends more than all may send', async () => {
  const socket = await DiscoverySocket.bind({ clock: createManualClock(), log: silentLog }, '127.0.0.1', 0)
  const read: Record<string, number> = {}
  socket.onPacket((_, { ip }) => {
    read[ip] = (read[ip] ?? 0) + 1
  })
  const [flood, honest] = [await senderAt('127.0.0.2'), await senderAt('127.0.0.3')]
  for (let i = 0; i < 700; i++) {
    flood.send(new Uint8Array(100), socket.port, '127.0.0.1')
    // the receive buffer of the socket has room for all
    if (i % 50 === 0) await systemClock.delay(5)
  }
  await systemClock.delay(100)
  honest.send(new Uint8Array(100), socket.port, '127.0.0.1')
  await until(() => read['127.0.0.3'] === 1, 'the packet of the other address')
  expect(read['127.0.0.2']).toBe(60)
  for (const one of [flood, honest]) one.close()
  await socket.close()
})
