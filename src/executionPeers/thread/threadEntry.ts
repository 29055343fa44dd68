// Entry of the thread of execution peers: joins the network, then answers the main thread until that closes it.
import { systemClock } from '#lib/clock'
import { enterThread } from '#lib/peers/restartedThread'
import { ExecutionNode } from '../net/executionNode.ts'
import { dropNode, keepNode, peerFacts, selfFacts } from '../net/operator.ts'
import type { ExecutionPeersSettings, OfExecutionPeersThread, OfMain } from './protocol.ts'

let node: ExecutionNode | undefined

function running(): ExecutionNode {
  if (node === undefined) throw new Error('the thread has not started')
  return node
}

const here: OfExecutionPeersThread = {
  setChain: (chain) => node?.setChain(chain),
  openGap: (id, top, floor, lowest) => running().openGap(id, top, floor, lowest),
  nextBlocks: (id) => running().nextBlocks(id),
  closeGap: (id) => running().closeGap(id),
  self: () => selfFacts(running()),
  peers: () => peerFacts(running()),
  keep: (text, isTrusted) => keepNode(running(), text, isTrusted),
  drop: (text, from) => dropNode(running(), text, from),
  async close(): Promise<void> {
    await node?.close()
    thread.end()
  },
}

const thread = enterThread<OfExecutionPeersThread, OfMain, ExecutionPeersSettings>(here, 'executionPeers')
const { log, link, settings } = thread

try {
  node = await ExecutionNode.start(
    {
      clock: systemClock,
      log,
      main: {
        headers: (query) => link.ask('headers', query),
        bodies: (hashes) => link.ask('bodies', hashes),
        receipts: (version, hashes) => link.ask('receipts', version, hashes),
        isCanonical: (block) => link.ask('isCanonical', block),
        report: (report) => link.tell('report', report),
      },
    },
    settings,
  )
  thread.ready(node.listening)
} catch (error) {
  thread.failed(error)
}
