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
  doc: 'Always true, as wallets expect.',
  params: [],
  result: flag,
  cost: 'instant',
  example: { params: [], result: true },
  run: () => true,
})

const peerCount = ethMethod({
  name: 'net_peerCount',
  doc: 'Number of peers. Always 0: there is no peer-to-peer network yet.',
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x0' },
  run: () => 0,
})

/** `net_*`: the network id and the state of peer-to-peer networking. */
export const netMethods: readonly Method<EthContext>[] = [netVersion, listening, peerCount]
