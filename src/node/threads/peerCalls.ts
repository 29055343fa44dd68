import type { ExecutionPeerFacts, ExecutionPeerNetwork, ExecutionPeersSelf } from '#types/executionPeer'

/** A call of the execution network, in the form that crosses between threads. */
export type PeerCall = (name: keyof ExecutionPeerNetwork, args: readonly string[]) => Promise<unknown>

/** Returns the network as a thread sees it that does not have it. */
export function remotePeers(call: PeerCall): ExecutionPeerNetwork {
  return {
    self: () => call('self', []) as Promise<ExecutionPeersSelf>,
    peers: () => call('peers', []) as Promise<readonly ExecutionPeerFacts[]>,
    count: () => call('count', []) as Promise<number>,
    isListening: () => call('isListening', []) as Promise<boolean>,
    keep: (node, isTrusted) => call('keep', [node, isTrusted ? 'trusted' : 'peers']) as Promise<void>,
    drop: (node, from) => call('drop', [node, from]) as Promise<void>,
  }
}

/** Answers calls of other threads. @throws RangeError without a network */
export const answerPeers =
  (network: ExecutionPeerNetwork | undefined): PeerCall =>
  async (name, [node = '', list]): Promise<unknown> => {
    if (network === undefined) throw new RangeError('there are no execution peers')
    switch (name) {
      case 'keep':
        return await network.keep(node, list === 'trusted')
      case 'drop':
        return await network.drop(node, list === 'trusted' ? 'trusted' : 'peers')
      default:
        return await network[name]()
    }
  }
