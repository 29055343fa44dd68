import { expect, vi } from 'vitest'
import type { Node } from '#node/node'

/** Waits until a node with metrics has all of its RPC threads: it is open when the first one listens. */
export async function untilAllRpcThreads({ urls }: Pick<Node, 'urls'>, count: number): Promise<void> {
  const metrics = async (): Promise<string> => await (await fetch(`${urls.metrics}/metrics`)).text()
  await vi.waitFor(async () => expect(await metrics()).toContain(`\nbasalt_node_rpc_threads ${count}\n`), { timeout: 20_000, interval: 50 })
}
