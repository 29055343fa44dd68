import { quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { RpcError } from '../../../errors.ts'
import type { Method } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'

/** As Base's client names what its proof-of-work ancestors had. */
function noMining(): never {
  throw new RpcError(-32603, 'unimplemented')
}

const ofMining = (name: string, what: string): Method<EthContext> =>
  ethMethod({
    name,
    doc: `${what}: an error (-32603, unimplemented), as Base's client answers; nothing is mined here.`,
    params: [],
    result: quantity,
    cost: 'instant',
    example: { params: [] },
    run: noMining,
  })

export const coinbase = ofMining('eth_coinbase', 'Who is paid for mined blocks')
export const mining = ofMining('eth_mining', 'Whether blocks are mined')
export const hashrate = ofMining('eth_hashrate', 'Hashes per second')

/** Base's client announces this number of the devp2p wire protocol and speaks it with nobody: there is no public mempool. */
const wireProtocol = 5

export const protocolVersion = ethMethod({
  name: 'eth_protocolVersion',
  doc: "Version of Ethereum's wire protocol, as Base's client gives it.",
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x5' },
  run: () => wireProtocol,
})
