import { quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { RpcError } from '../../../errors.ts'
import type { Method } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'

/** Error of Base's client for methods of proof-of-work mining. */
function noMining(): never {
  throw new RpcError(-32603, 'unimplemented')
}

const ofMining = (name: string, what: string): Method<EthContext> =>
  ethMethod({
    name,
    doc: `${what}. Always returns an error (-32603, unimplemented), like Base's client: this chain has no mining.`,
    params: [],
    result: quantity,
    cost: 'instant',
    example: { params: [] },
    run: noMining,
  })

const coinbase = ofMining('eth_coinbase', 'Beneficiary of mined blocks')
const mining = ofMining('eth_mining', 'Whether the node mines')
const hashrate = ofMining('eth_hashrate', 'Mining hash rate')

/** devp2p version that Base's client reports; there is no public mempool, so the value has no use. */
const wireProtocol = 5

const protocolVersion = ethMethod({
  name: 'eth_protocolVersion',
  doc: "Version of the devp2p wire protocol, as reported by Base's client.",
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x5' },
  run: () => wireProtocol,
})

export const legacyMethods: readonly Method<EthContext>[] = [protocolVersion, coinbase, mining, hashrate]
