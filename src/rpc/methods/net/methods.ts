import { flag, quantity, text } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { ethMethod } from '../define.ts'

const netVersion = ethMethod({
  name: 'net_version',
  doc: 'Network id: the chain id as a decimal number.',
  params: [],
  result: text,
  cost: 'instant',
  example: { params: [], result: '8453' },
  run: (context) => context.chainId.toString(),
})

const listening = ethMethod({
  name: 'net_listening',
  doc: 'Whether execution peers can connect. True without an execution network too, as wallets expect.',
  params: [],
  result: flag,
  cost: 'instant',
  example: { params: [], result: true },
  run: (context) => context.peers?.isListening() ?? true,
})

const peerCount = ethMethod({
  name: 'net_peerCount',
  doc: 'Number of connected execution peers; 0 without an execution network.',
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x0' },
  run: (context) => context.peers?.count() ?? 0,
})

/** `net_*`: the network id and the state of peer-to-peer networking. */
export const netMethods: readonly Method<EthContext>[] = [netVersion, listening, peerCount]
