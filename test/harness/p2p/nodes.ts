import { randomBytes } from 'node:crypto'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { Payload } from '#types/payload'
import { P2pNode } from '../../../src/p2p/net/p2pNode.ts'
import type { PeerEvents } from '../../../src/p2p/net/peerEvents.ts'
import type { P2pSettings } from '../../../src/p2p/thread/protocol.ts'
import { sequencer } from './chain.ts'

/** A node of the network in this thread, with what it received. */
export type TestNode = AsyncDisposable & {
  readonly node: P2pNode
  readonly address: string
  readonly blocks: readonly Payload[]
  readonly events: readonly PeerEvents[]
  /** Resolves once a condition holds that a block or a report may have made true. */
  until(condition: () => boolean): Promise<void>
}

export const settingsOf = (config: RollupConfig, settings: Partial<P2pSettings> = {}): P2pSettings => ({
  config,
  identity: new Uint8Array(randomBytes(32)),
  agent: 'basalt/test',
  host: '127.0.0.1',
  port: 0,
  hasDiscovery: false,
  ...{ bootnodes: [], staticPeers: [], trustedPeers: [], maxPeers: 30 },
  bans: { isOn: true, belowScore: -100, durationMs: 60_000 },
  signer: sequencer,
  ...settings,
})

export async function startTestNode(
  config: RollupConfig,
  settings: Partial<P2pSettings> = {},
  canonical: (number: number) => Payload | undefined = () => undefined,
): Promise<TestNode> {
  const blocks: Payload[] = []
  const events: PeerEvents[] = []
  const waiting = new Set<() => void>()
  const changed = (): void => {
    for (const check of waiting) check()
  }
  const node = await P2pNode.start(
    {
      clock: systemClock,
      log: silentLog,
      onBlock: (payload) => {
        blocks.push(payload)
        changed()
      },
      canonical: async (number) => canonical(number),
      onEvents: (report) => {
        events.push(report)
        changed()
      },
    },
    settingsOf(config, settings),
  )
  return {
    node,
    address: `/ip4/127.0.0.1/tcp/${node.listening.tcpPort}/p2p/${node.listening.peerId}`,
    blocks,
    events,
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    [Symbol.asyncDispose]: () => node.close(),
  }
}
