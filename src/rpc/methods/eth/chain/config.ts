import type { ForkConfigs } from '#chainspec/forkConfigs'
import { toQuantity } from '#lib/hex'
import type { Json } from '../../../json.ts'
import { nullable, object, refTo } from '../../../reference/schemas.ts'
import type { ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'

const forkSchema = object('fork config', {
  ...{ activationTime: { type: 'integer' }, blobSchedule: { type: 'object' }, chainId: refTo('Quantity'), forkId: refTo('Bytes') },
  ...{ precompiles: { type: 'object' }, systemContracts: { type: 'object' } },
})

const configResult: ResultCodec<Json> = {
  doc: 'current, next, last: activationTime (seconds; 0: at genesis), blobSchedule (zeros: no blob transactions), chainId, forkId, precompiles by name, systemContracts; next and last are null when no fork is planned',
  schema: object('config', { current: forkSchema, next: nullable(forkSchema), last: nullable(forkSchema) }),
  encode: (value) => value,
}

/** Encodes the config from an activation on. @param activation seconds; 0: genesis */
function configAt(configs: ForkConfigs, chainId: number, activation: number, genesisSec: number): Json {
  const { forkId, blobs, precompiles, systemContracts } = configs.at(activation === 0 ? genesisSec : activation)
  return {
    activationTime: activation,
    blobSchedule: { baseFeeUpdateFraction: Number(blobs.updateFraction), max: blobs.max, target: blobs.target },
    chainId: toQuantity(chainId),
    forkId,
    precompiles: Object.fromEntries([...precompiles].sort(([a], [b]) => (a < b ? -1 : 1))),
    systemContracts,
  }
}

/** @see EIP-7910 */
export const config = ethMethod({
  name: 'eth_config',
  doc: 'Fork configs of the chain at the latest block, at the next planned fork and at the last planned fork (EIP-7910). Includes forks that this version cannot execute.',
  params: [],
  result: configResult,
  cost: 'point-read',
  example: { params: [] },
  run({ chain, forks, forkConfigs, chainId }): Json {
    using view = chain.view()
    const genesisSec = forks.genesis.l2TimeSec
    const now = view.header(view.heads.latest.hash)?.timestamp ?? genesisSec
    const { activations } = forkConfigs
    const passed = activations.filter((time) => time <= now)
    const [next, last] = [activations[passed.length], activations.at(-1)]
    const ahead = next !== undefined && last !== undefined
    const configFrom = (activation: number): Json => configAt(forkConfigs, chainId, activation, genesisSec)
    return {
      current: configFrom(passed.at(-1) ?? 0),
      next: ahead ? configFrom(next) : null,
      last: ahead ? configFrom(last) : null,
    }
  },
})
