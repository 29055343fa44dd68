// Thread with nodes that validate and forward blocks, and do not execute them. Each message is a list of peers to connect with; starts a node and returns
// its address.
import { parentPort, workerData } from 'node:worker_threads'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { settingsOf } from '#test/harness/p2p/nodes'
import type { Address } from '#types/ids'
import { P2pThread } from '../../src/p2p/thread/p2pThread.ts'

export type RelayOrder = { readonly config: RollupConfig; readonly signer: Address }

const { config, signer } = workerData as RelayOrder
const here = { block: (): void => {}, canonical: async () => undefined, events: (): void => {} }

async function startRelay(staticPeers: readonly string[]): Promise<string> {
  const thread = await P2pThread.start({ clock: systemClock, log: silentLog, here }, settingsOf(config, { staticPeers, signer }))
  const { peerId, tcpPort } = thread.listening ?? {}
  return `/ip4/127.0.0.1/tcp/${tcpPort}/p2p/${peerId}`
}

parentPort?.on('message', async (staticPeers: readonly string[]) => parentPort?.postMessage(await startRelay(staticPeers)))
