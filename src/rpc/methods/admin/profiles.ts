import { ParamError } from '../../codecs/paramError.ts'
import { wrongType } from '../../codecs/values.ts'
import { invalidInput } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { type ProfileKind, type ProfileState, profileKinds } from '../../ports.ts'
import { nullable, object } from '../../reference/schemas.ts'
import { type ParamCodec, param } from '../../registry.ts'
import { operatorMethod } from '../define.ts'

/** Longest profile. */
const maxProfileSec = 120

const kind: ParamCodec<ProfileKind> = {
  doc: profileKinds.join(', '),
  schema: { enum: profileKinds },
  parse(value): ProfileKind {
    const found = profileKinds.find((name) => name === value)
    if (found === undefined) throw wrongType(value, `one of ${profileKinds.join(', ')}`)
    return found
  },
}

const thread: ParamCodec<string> = {
  doc: 'name of a thread: main, execution, rpc-0, p2p …',
  schema: { type: 'string' },
  parse(value): string {
    if (typeof value !== 'string' || value.length > 40) throw wrongType(value, 'the name of a thread')
    return value
  },
}

const seconds: ParamCodec<number> = {
  doc: `1 to ${maxProfileSec}; not used for a snapshot`,
  schema: { type: 'integer', minimum: 1, maximum: maxProfileSec },
  parse(value): number {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(value, 'a number of seconds')
    if (value < 1 || value > maxProfileSec) throw new ParamError(`expected 1 to ${maxProfileSec} seconds`)
    return value
  },
}

const encode = ({ state, kind: of, thread: name, file, bytes, reason }: ProfileState): Json => ({
  ...{ state, kind: of, thread: name, file },
  ...(bytes !== undefined && { bytes }),
  ...(reason !== undefined && { reason }),
})

const doc = 'state (running, done, failed), kind, thread, file on the machine of the node, bytes, reason'
const example = { state: 'running', kind: 'cpu', thread: 'execution', file: '/data/profiles/20260101T000000-execution.cpuprofile' } as const

const textSchema = { type: 'string' } as const
const schema = object(
  'profile',
  { state: { enum: ['running', 'done', 'failed'] }, kind: { enum: profileKinds }, thread: textSchema, file: textSchema },
  { bytes: { type: 'integer' }, reason: textSchema },
)

export const startProfile = operatorMethod({
  name: 'admin_startProfile',
  doc: 'Begins a profile of one thread, and writes it to a file of the data directory that Chrome opens. One profile at a time.',
  params: [param('kind', kind), param('thread', thread), param('seconds', seconds)],
  result: { doc, schema, encode },
  cost: 'instant',
  example: { params: ['cpu', 'execution', 30], result: example },
  async run({ operator }, wanted, of, sec): Promise<ProfileState> {
    const outcome = await operator.profiles.start(wanted, of, sec)
    if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
    return outcome.value
  },
})

export const profile = operatorMethod({
  name: 'admin_profile',
  doc: 'The profile that is taken, or the last one; null: none since the start.',
  params: [],
  result: { doc, schema: nullable(schema), encode: (state: ProfileState | undefined) => (state ? encode(state) : null) },
  cost: 'instant',
  example: { params: [], result: { ...example, state: 'done', bytes: 1_200_000 } },
  run: ({ operator }) => operator.profiles.state(),
})
