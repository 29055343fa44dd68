// Inputs of the precompiles on the pairing curves: random, equal and opposite points, infinity, and points that fail as late as possible.
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { createBytes, denseScalars, type PricedInput, versioned } from './priceNumbers.ts'

/** Points of one curve, in the encoding of its precompiles. */
type Points = {
  readonly g1: readonly Uint8Array[]
  readonly g2: readonly Uint8Array[]
  /** on the curve and the twist, outside the subgroups; `outside1` as `g1` where the curve has no such points */
  readonly outside1: Uint8Array
  readonly outside2: Uint8Array
  readonly infinity1: Uint8Array
  readonly infinity2: Uint8Array
}

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T
const poolSize = 48

type Group<P> = { readonly Point: { readonly BASE: P } }

/** Some points far from each other, by adding and doubling only: the oracle is slow. */
function pool<P extends { add(other: P): P; double(): P; negate(): P }>(
  { Point }: Group<P>,
  encode: (point: P) => Uint8Array,
): Uint8Array[] {
  let point = Point.BASE
  for (let i = 0; i < 20; i++) point = point.double().add(Point.BASE)
  return Array.from({ length: poolSize }, (_, i) => {
    if (i % 4 === 3) return encode(point.negate())
    point = point.double().add(Point.BASE)
    return encode(point)
  })
}

type Fp2 = { readonly c0: bigint; readonly c1: bigint }
type Fields2 = typeof bn254.fields.Fp2
/** A point of the twist y² = x³ + b, most likely outside the subgroup. */
function twistPoint(field: Fields2, b: Fp2): { readonly x: Fp2; readonly y: Fp2 } {
  for (let c0 = 2n; ; c0++) {
    const x = { c0, c1: 1n }
    try {
      return { x, y: field.sqrt(field.add(field.mul(field.sqr(x), x), b)) }
    } catch {}
  }
}

const encode = (width: number, ...values: readonly bigint[]): Uint8Array =>
  concatBytes(...values.map((value) => bytesFromBigint(value, width)))

export function bn254Points(): Points {
  const encode2 = ({ x, y }: { x: Fp2; y: Fp2 }) => encode(32, x.c1, x.c0, y.c1, y.c0)
  const g1 = pool(bn254.G1, (point) => {
    const { x, y } = point.toAffine()
    return encode(32, x, y)
  })
  const outside2 = encode2(twistPoint(bn254.fields.Fp2, bn254.G2.Point.CURVE().b))
  const g2 = pool(bn254.G2, (point) => encode2(point.toAffine()))
  return { g1, g2, outside1: g1[0] as Uint8Array, outside2, infinity1: new Uint8Array(64), infinity2: new Uint8Array(128) }
}

export function blsPoints(): Points {
  const { Fp, Fp2 } = bls12_381.fields
  const encode2 = ({ x, y }: { x: Fp2; y: Fp2 }) => encode(64, x.c0, x.c1, y.c0, y.c1)
  const g1 = pool(bls12_381.G1, (point) => {
    const { x, y } = point.toAffine()
    return encode(64, x, y)
  })
  const outside2 = encode2(twistPoint(Fp2 as unknown as Fields2, bls12_381.G2.Point.CURVE().b))
  const g2 = pool(bls12_381.G2, (point) => encode2(point.toAffine()))
  const x = 4n
  const outside1 = encode(64, x, Fp.sqrt(Fp.create(x * x * x + 4n)))
  return { g1, g2, outside1, outside2, infinity1: new Uint8Array(128), infinity2: new Uint8Array(256) }
}

/** Pairs of points of one group. After every fourth point of the pool comes its opposite. */
export function* sumInputs(points: readonly Uint8Array[], infinity: Uint8Array, outside: Uint8Array): Generator<PricedInput> {
  for (let i = 0; i < 1_080; i++) {
    const [a, b] = [pick(points, i), pick(points, i * 7 + 5)]
    const off = Uint8Array.from(b)
    off[off.length - 1] = (off.at(-1) ?? 0) ^ 1
    const cases: readonly (readonly [string, Uint8Array])[] = [
      ['random', b],
      ['equal', a],
      ['next, or opposite', pick(points, i + 1)],
      ['infinity', infinity],
      ['outside', outside],
      ['second off the curve', off],
    ]
    const [label, second] = pick(cases, Math.floor(i / 2))
    yield { label, input: i % 2 === 0 ? concatBytes(a, second) : concatBytes(second, a) }
  }
}

function scalarAt(bytes: (length: number) => Uint8Array, index: number): Uint8Array {
  const order = bls12_381.fields.Fr.ORDER
  const edges = [2n ** 256n - 1n, order - 1n, order, 0n, 1n, 2n ** 255n, 2n ** 128n - 1n, ...denseScalars]
  return index % 3 === 0 ? bytesFromBigint(pick(edges, index / 3), 32) : bytes(32)
}

export function* productInputs({ g1, infinity1 }: Points): Generator<PricedInput> {
  const bytes = createBytes('products')
  for (let i = 0; i < 1_050; i++) {
    const scalar = scalarAt(bytes, i)
    const label = `scalar ${bigintFromBytes(scalar).toString(16).slice(0, 8)}…`
    yield { label, input: concatBytes(i % 50 === 49 ? infinity1 : pick(g1, i), scalar) }
  }
}

/** Numbers of terms: few in most inputs, the limits of the forks in some. */
function* counts(total: number, few: number, limits: readonly number[]): Generator<number> {
  for (let i = 0; i < total; i++) yield i % 4 === 3 ? 1 + ((i * 5) % few) : 1 + (i % 3)
  const most = Math.max(...limits)
  for (const count of [16, 24, 31, 32, 33, 48, 64, 96, 127, 128, 129, 192, 256, Math.floor(most / 2), most - 1, ...limits]) {
    if (count <= most) yield count
  }
}

/** Weighted sums of random, equal or few points; a failing one has its last point outside the subgroup. */
export function* sumsInputs(
  points: readonly Uint8Array[],
  infinity: Uint8Array,
  outside: Uint8Array,
  limits: readonly number[],
): Generator<PricedInput> {
  const bytes = createBytes('sums')
  let i = 0
  for (const count of counts(1_000, 12, limits)) {
    i++
    const shape = pick(['random', 'equal', 'random', 'last outside', 'equal scalars', 'infinities'], i)
    const scalar = scalarAt(bytes, i)
    const terms = Array.from({ length: count }, (_, j) => {
      const point = shape === 'equal' ? pick(points, i) : shape === 'infinities' && j % 2 === 0 ? infinity : pick(points, i + j * 5)
      const isOutside = shape === 'last outside' && j === count - 1
      return concatBytes(isOutside ? outside : point, shape === 'equal scalars' ? scalar : scalarAt(bytes, i + j))
    })
    yield { label: `${count} terms, ${shape}`, input: concatBytes(...terms) }
  }
}

const pairShapes = ['random', 'equal', 'random', 'last outside', 'G1 infinite', 'G2 infinite', 'off the curve'] as const

/** Pairings of random or equal points, with infinity on either side; a failing one has its last point outside the subgroup. */
export function* pairingInputs(points: Points, limits: readonly number[]): Generator<PricedInput> {
  let i = 0
  for (const count of counts(1_000, 8, limits)) {
    const [shape, start] = [pick(pairShapes, ++i), i]
    const pairs = Array.from({ length: count }, (_, j) => pairOf(points, shape, start, j, j === count - 1))
    yield { label: `${count} pairs, ${shape}`, input: concatBytes(...pairs) }
  }
}

function pairOf(points: Points, shape: (typeof pairShapes)[number], start: number, index: number, isLast: boolean): Uint8Array {
  const at = shape === 'equal' ? start : start + index * 7
  const [first, second] = [pick(points.g1, at), Uint8Array.from(pick(points.g2, at))]
  if (shape === 'G1 infinite') return concatBytes(points.infinity1, second)
  if (shape === 'G2 infinite') return concatBytes(first, points.infinity2)
  if (shape === 'last outside' && isLast) return concatBytes(first, points.outside2)
  if (shape === 'off the curve' && isLast) second[second.length - 1] = (second.at(-1) ?? 0) ^ 1
  return concatBytes(first, second)
}

/** Elements to map: random and at the edges. */
export function* elementInputs(perInput: number): Generator<PricedInput> {
  const bytes = createBytes('elements')
  const { ORDER } = bls12_381.fields.Fp
  const edges = [0n, 1n, 2n, ORDER - 1n, ORDER - 2n, (ORDER - 1n) / 2n, ORDER]
  for (let i = 0; i < 1_020; i++) {
    const values = Array.from({ length: perInput }, (_, j) =>
      (i + j) % 9 === 0 ? pick(edges, (i + j) / 9) : bigintFromBytes(bytes(48)) % ORDER,
    )
    yield { label: `element ${values[0]?.toString(16).slice(0, 8)}…`, input: encode(64, ...values) }
  }
}

/** Commitments that are points of the group, opened anywhere: the check fails at its end. */
export function* openingInputs(): Generator<PricedInput> {
  const bytes = createBytes('openings')
  const { Fr } = bls12_381.fields
  const commitments: Uint8Array[] = []
  let point = bls12_381.G1.Point.BASE
  for (let i = 0; i < poolSize; i++) {
    point = point.double().add(bls12_381.G1.Point.BASE)
    commitments.push(point.toBytes(true))
  }
  for (let i = 0; i < 1_020; i++) {
    const [commitment, proof] = [pick(commitments, i), Uint8Array.from(pick(commitments, i * 5 + 1))]
    if (i % 20 === 19) proof[47] = (proof[47] ?? 0) ^ 1
    const [z, y] = [bytes(32), bytes(32)].map((value) => bytesFromBigint(bigintFromBytes(value) % Fr.ORDER, 32)) as [Uint8Array, Uint8Array]
    yield {
      label: i % 20 === 19 ? 'a proof that is no point, likely' : 'a wrong proof',
      input: concatBytes(versioned(commitment), z, y, commitment, proof),
    }
  }
}
