// Entry of the p2p thread: joins the network, then answers the main thread until it is told to close.
import { systemClock } from '#lib/clock'
import { enterThread } from '#lib/peers/restartedThread'
import { operatorCalls } from '../net/operator.ts'
import { P2pNode } from '../net/p2pNode.ts'
import type { OfMainThread, OfP2pThread, P2pSettings } from './protocol.ts'

let node: P2pNode | undefined

function running(): P2pNode {
  if (node === undefined) throw new Error('the p2p thread has not started')
  return node
}

const here: OfP2pThread = {
  setSigner: (signer) => {
    running().gossip.signer = signer
  },
  publish: (block) => running().publish(block),
  fetch: (numbers) => running().client.fetch(numbers),
  blame: (number) => running().client.blame(number),
  self: () => operatorCalls(running()).self(),
  peers: (connectedOnly) => operatorCalls(running()).peers(connectedOnly),
  peerStats: () => operatorCalls(running()).peerStats(),
  discoveryTable: () => operatorCalls(running()).discoveryTable(),
  deny: (kind, what, isDenied) => operatorCalls(running()).deny(kind, what, isDenied),
  denied: (kind) => operatorCalls(running()).denied(kind),
  connect: (address) => operatorCalls(running()).connect(address),
  disconnect: (peerId) => operatorCalls(running()).disconnect(peerId),
  protect: (peerId, isProtected) => operatorCalls(running()).protect(peerId, isProtected),
  async close(): Promise<void> {
    await node?.close()
    thread.end()
  },
}

const thread = enterThread<OfP2pThread, OfMainThread, P2pSettings>(here, 'p2p')
const { log, link, settings } = thread

// libp2p and discv5 leave some rejections of closed connections unhandled; the network goes on
process.on('unhandledRejection', (error) => log.debug('rejection in a library', { error }))

try {
  node = await P2pNode.start(
    {
      clock: systemClock,
      log,
      onBlock: (payload, latencyMs) => link.tell('block', payload, latencyMs),
      canonical: (number) => link.ask('canonical', number),
      onEvents: (events) => link.tell('events', events),
    },
    settings,
  )
  thread.ready(node.listening)
} catch (error) {
  thread.failed(error)
}
