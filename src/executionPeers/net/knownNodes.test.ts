import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { fast, filledChain, startTestNode, until } from '#test/harness/executionPeers/nodes'
import { configNow } from '#test/harness/p2p/chain'
import { readKnownNodes } from './knownNodes.ts'
import { parseNode } from './nodeId.ts'

const config = configNow(5_000, Date.now())
const chain = filledChain(config, 1, 20)

it('executionPeers: connects to peers that discovery found before the restart', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'basalt-known-'))
  const knownNodesFile = join(folder.path, 'peers.json')
  await using server = await startTestNode(config, () => chain, { hasDiscovery: true }, fast(10))
  const boot = { v4: [], v5: [server.enode] }
  {
    await using client = await startTestNode(config, () => chain, { hasDiscovery: true, bootnodes: boot, knownNodesFile }, fast(10))
    await until(() => client.node.peers.ready().length === 1, 'found by discovery')
  }
  const known = readKnownNodes(knownNodesFile, silentLog)
  expect(known).toEqual([parseNode(server.enode)])
  await using again = await startTestNode(config, () => chain, { knownNodesFile })
  await until(() => again.node.peers.ready().length === 1, 'connected without discovery')
  await until(() => server.node.peers.ready().length === 1)
})

it.each(['', '{"a":1}', '["enode://abc@192.0.2.1:30303"]', '[1]'])(
  'executionPeers: starts without known nodes when their file is %j',
  async (text) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'basalt-known-'))
    const knownNodesFile = join(folder.path, 'peers.json')
    writeFileSync(knownNodesFile, text)
    {
      await using node = await startTestNode(config, () => chain, { knownNodesFile })
      expect(node.node.peers.candidates.known()).toEqual([])
    }
    expect(readFileSync(knownNodesFile, 'utf8')).toBe('[]')
  },
)
