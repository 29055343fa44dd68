import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { blockOf, configNow, sequencer, signBlock } from '#test/harness/p2p/chain'
import { settingsOf } from '#test/harness/p2p/nodes'
import type { Payload } from '#types/payload'
import { P2pThread } from './p2pThread.ts'
import type { P2pSettings } from './protocol.ts'

const config = configNow(100, systemClock.nowMs())

async function startThread(settings: Partial<P2pSettings> = {}) {
  const arrived = Promise.withResolvers<Payload>()
  const meshed = Promise.withResolvers<void>()
  const here = {
    block: (payload: Payload) => arrived.resolve(payload),
    canonical: async (number: number) => (number === 90 ? blockOf(config, 90) : undefined),
    events: ({ meshPeers }: { readonly meshPeers: number }) => {
      if (meshPeers > 0) meshed.resolve()
    },
  }
  const thread = await P2pThread.start({ clock: systemClock, log: silentLog, here }, settingsOf(config, settings))
  return { thread, arrived: arrived.promise, meshed: meshed.promise, [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose]() }
}

it('p2p/thread: a block published by one thread arrives in the other one, whose signer is set later; blocks are fetched', async () => {
  await using first = await startThread()
  const { peerId, tcpPort } = first.thread.listening ?? {}
  await using second = await startThread({ signer: undefined, staticPeers: [`/ip4/127.0.0.1/tcp/${tcpPort}/p2p/${peerId}`] })
  second.thread.setSigner(sequencer)
  await Promise.all([first.meshed, second.meshed])
  const block = blockOf(config, 100)
  expect(await first.thread.ask('publish', signBlock(config, block))).toBe(1)
  expect(await second.arrived).toEqual(block)
  expect(await second.thread.ask('fetch', [90, 91])).toEqual([blockOf(config, 90), undefined])
  expect(await second.thread.ask('peers', true)).toMatchObject({ peers: [{ peerId, agent: 'basalt/test', direction: 'outbound' }] })
  await second.thread.ask('deny', 'peer', peerId ?? '', true)
  expect(await second.thread.ask('peerStats')).toMatchObject({ banned: 1, connected: 0 })
}, 60_000)

it('p2p/thread: names the port that is taken (P2P_PORT)', async () => {
  await using first = await startThread()
  const port = first.thread.listening?.tcpPort ?? 0
  await expect(startThread({ port })).rejects.toMatchObject({ code: 'P2P_PORT', severity: 'fatal' })
}, 60_000)
