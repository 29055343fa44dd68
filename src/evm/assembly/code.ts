import { forkPrague, frameBytes, frameCode, frameIp, frameJumps, frameKind, frameStream, kindPrecompile } from './internal'
import {
  accountCode,
  accountCodeGeneration,
  accountCodeHash,
  accountCodedFlag,
  accountFlags,
  codeBase,
  codeEnd,
  codeTableBase,
  codeTableEnd,
  ctxCodesFound,
  ctxCodeSoftBytes,
  ctxCodeTop,
  ctxFork,
  ctxFrames,
  framesBase,
} from './layout'
import { scanJumps, streamBound, targetAt } from './jumps'
import { beginStream, translate } from './translate'

/** A code entry. The arena holds its bytes, its jump table and, once it runs, its instruction stream. Entries are in arena order. */
const codeHash: usize = 0
export const codeBytes: usize = 32
export const codeSize: usize = 36
export const codeStream: usize = 40
export const codeJumps: usize = 44
/** u32, end of the entry's arena data. */
const codeTop: usize = 48
/** u32 bits, 1: findable by hash; 2: a frame runs it (set during a sweep). */
const codeFlags: usize = 52
/** u32, distance that a sweep moves the arena data down. */
const codeMoved: usize = 56
const codeMovedTo: usize = 60
/** u32, end of the translated stream. */
const codeStreamTop: usize = 64
const codeEntryBytes: usize = 72

const hashedFlag: u32 = 1
const liveFlag: u32 = 2

const indexBytes: usize = 0x100000
const indexMask: u32 = 0x3ffff
const entriesBase: usize = <usize>codeTableBase + indexBytes
/** Maximum number of entries; fills at most half of the index. */
const maxEntries: u32 = min<u32>((codeTableEnd - <i32>entriesBase) / <i32>codeEntryBytes, 0x1ffff)
const arenaEnd: usize = codeEnd
const delegationSize: u32 = 23

let entryCount: u32 = 0
let generation: u32 = 1
let forkOfCodes: u32 = 0xffffffff
let pending: usize = 0

/** Drops code translated for another fork. Called before a session begins, when no frame runs. */
export function keepCodesOf(fork: u32): void {
  if (fork === forkOfCodes && entryCount > 0) return
  forkOfCodes = fork
  store<u32>(ctxFrames, 0)
  clear()
}

function clear(): void {
  memory.fill(codeTableBase, 0, indexBytes)
  entryCount = 0
  generation++
  store<u32>(ctxCodeTop, codeBase)
}

function cellAt(index: u32): usize {
  return <usize>codeTableBase + (<usize>index << 2)
}

function indexOf(hash: usize): usize {
  let at = load<u32>(hash) & indexMask
  let cell = cellAt(at)
  while (load<u32>(cell) !== 0 && !sameHash(<usize>load<u32>(cell), hash)) {
    at = (at + 1) & indexMask
    cell = cellAt(at)
  }
  return cell
}

function sameHash(a: usize, b: usize): bool {
  return load<u64>(a) === load<u64>(b) && load<u64>(a, 8) === load<u64>(b, 8) && load<u64>(a, 16) === load<u64>(b, 16) && load<u64>(a, 24) === load<u64>(b, 24)
}

/** Returns the entry of a code by its hash; 0 when the arena lacks it. */
export function codeByHash(hash: usize): usize {
  return <usize>load<u32>(indexOf(hash))
}

/** Returns the entry of an account's non-empty code; 0 when the arena lacks it. */
export function codeOf(account: usize): usize {
  if (load<u32>(account, accountCodeGeneration) === generation) {
    const known = <usize>load<u32>(account, accountCode)
    if (known !== 0) return known
  }
  const entry = codeByHash(account + accountCodeHash)
  if (entry !== 0) {
    store<u32>(account, <u32>entry, accountCode)
    store<u32>(account, generation, accountCodeGeneration)
    store<u32>(ctxCodesFound, load<u32>(ctxCodesFound) + 1)
    store<u32>(account, load<u32>(account, accountFlags) | accountCodedFlag, accountFlags)
  }
  return entry
}

/**
 * Reserves arena space for the bytes of a code. The caller writes the bytes and calls `finishCode`. Hash 0 means initcode, which is not findable by
 * hash.
 * May sweep the arena, which removes entries that no frame runs.
 */
export function allocateCode(hash: usize, size: u32): usize {
  const top = <usize>load<u32>(ctxCodeTop)
  const soft = <usize>load<u32>(ctxCodeSoftBytes)
  if (entryCount >= maxEntries || top + size > <usize>codeBase + max<usize>(soft, sweptBytes * 2)) sweep()
  return newEntry(hash, size)
}

/** Bytes left after the last sweep. */
let sweptBytes: usize = 0

function newEntry(hash: usize, size: u32): usize {
  if (entryCount >= maxEntries) unreachable()
  const entry = entriesBase + <usize>(entryCount++) * codeEntryBytes
  const bytes = <usize>load<u32>(ctxCodeTop)
  // zeros after the code: a PUSH at its end reads them
  const top = (bytes + size + 40) & ~7
  if (top > arenaEnd) unreachable()
  memory.fill(entry, 0, codeEntryBytes)
  memory.fill(bytes + size, 0, top - bytes - size)
  store<u32>(entry, <u32>bytes, codeBytes)
  store<u32>(entry, size, codeSize)
  store<u32>(ctxCodeTop, <u32>top)
  if (hash !== 0) {
    memory.copy(entry, hash, 32)
    store<u32>(entry, hashedFlag, codeFlags)
  }
  pending = entry
  return bytes
}

/** Prepares the code of the last allocation, whose bytes are now written, for execution. Returns its entry. */
export function finishCode(): usize {
  const entry = pending
  const jumps = <usize>load<u32>(ctxCodeTop)
  const stream = scanJumps(<usize>load<u32>(entry, codeBytes), load<u32>(entry, codeSize), jumps)
  const top = (stream + streamBound + 7) & ~7
  if (top > arenaEnd) unreachable()
  store<u32>(entry, <u32>jumps, codeJumps)
  store<u32>(entry, <u32>stream, codeStream)
  store<u32>(entry, <u32>beginStream(stream), codeStreamTop)
  store<u32>(entry, <u32>top, codeTop)
  store<u32>(ctxCodeTop, <u32>top)
  translateFrom(entry, 0)
  if (load<u32>(entry, codeFlags) & hashedFlag) store<u32>(indexOf(entry), <u32>entry)
  return entry
}

/** Translates a part of a code from `pc` on. @returns the part's distance from the start of the stream */
export function translateFrom(entry: usize, pc: u32): u32 {
  const stream = <usize>load<u32>(entry, codeStream)
  const from = <usize>load<u32>(entry, codeStreamTop)
  const top = translate(<usize>load<u32>(entry, codeBytes), load<u32>(entry, codeSize), <usize>load<u32>(entry, codeJumps), stream, from, pc)
  if (top > <usize>load<u32>(entry, codeTop)) unreachable()
  store<u32>(entry, <u32>top, codeStreamTop)
  return <u32>(from - stream)
}

/** Returns the distance of the block at the JUMPDEST at `pc`, translating it if necessary; 0 when there is no JUMPDEST. */
export function distanceOf(entry: usize, pc: u32): u32 {
  if (pc >= load<u32>(entry, codeSize)) return 0
  const target = targetAt(<usize>load<u32>(entry, codeJumps), pc)
  if (target === 0) return 0
  const known = load<u32>(target)
  return known !== 0 ? known : translateFrom(entry, pc)
}

/** Returns a pointer to the 20 address bytes that a code delegates to (EIP-7702); 0 when it does not delegate. */
export function delegateOf(entry: usize): usize {
  if (load<u32>(ctxFork) < forkPrague || load<u32>(entry, codeSize) !== delegationSize) return 0
  const bytes = <usize>load<u32>(entry, codeBytes)
  return load<u8>(bytes) === 0xef && load<u8>(bytes, 1) === 1 && load<u8>(bytes, 2) === 0 ? bytes + 3 : 0
}

// ---- sweeping: removes code that no frame runs and compacts the rest

function sweep(): void {
  const frames = load<u32>(ctxFrames)
  for (let i: u32 = 0; i < frames; i++) {
    const entry = codeOfFrame(i)
    if (entry !== 0) store<u32>(entry, load<u32>(entry, codeFlags) | liveFlag, codeFlags)
  }
  const count = entryCount
  planMoves(count)
  for (let i: u32 = 0; i < frames; i++) follow(<usize>framesBase + <usize>i * frameBytes, codeOfFrame(i))
  clear()
  for (let i: u32 = 0; i < count; i++) {
    const entry = entriesBase + <usize>i * codeEntryBytes
    if (load<u32>(entry, codeFlags) & liveFlag) move(entry)
  }
  sweptBytes = <usize>load<u32>(ctxCodeTop) - <usize>codeBase
}

/** Returns the entry of the code that a frame runs; 0 for a precompile. */
function codeOfFrame(depth: u32): usize {
  const frame = <usize>framesBase + <usize>depth * frameBytes
  return load<u32>(frame, frameKind) === kindPrecompile ? 0 : <usize>load<u32>(frame, frameCode)
}

/** Computes, for each entry that stays, its new place and the distance its bytes move down. */
function planMoves(count: u32): void {
  let to: usize = codeBase
  let place = entriesBase
  for (let i: u32 = 0; i < count; i++) {
    const entry = entriesBase + <usize>i * codeEntryBytes
    if (!(load<u32>(entry, codeFlags) & liveFlag)) continue
    const from = <usize>load<u32>(entry, codeBytes)
    store<u32>(entry, <u32>(from - to), codeMoved)
    store<u32>(entry, <u32>place, codeMovedTo)
    to += <usize>load<u32>(entry, codeTop) - from
    place += codeEntryBytes
  }
}

function follow(frame: usize, entry: usize): void {
  if (entry === 0) return
  const moved = load<u32>(entry, codeMoved)
  store<u32>(frame, load<u32>(entry, codeMovedTo), frameCode)
  store<u32>(frame, load<u32>(frame, frameIp) - moved, frameIp)
  store<u32>(frame, load<u32>(frame, frameStream) - moved, frameStream)
  store<u32>(frame, load<u32>(frame, frameJumps) - moved, frameJumps)
}

/** Moves entries in order, so that no move overwrites an entry that has not moved yet. */
function move(old: usize): void {
  const moved = load<u32>(old, codeMoved)
  const from = <usize>load<u32>(old, codeBytes)
  memory.copy(from - moved, from, <usize>load<u32>(old, codeStreamTop) - from)
  const entry = entriesBase + <usize>(entryCount++) * codeEntryBytes
  memory.copy(entry, old, codeEntryBytes)
  store<u32>(entry, load<u32>(entry, codeFlags) & ~liveFlag, codeFlags)
  store<u32>(entry, <u32>(from - moved), codeBytes)
  store<u32>(entry, load<u32>(entry, codeStream) - moved, codeStream)
  store<u32>(entry, load<u32>(entry, codeJumps) - moved, codeJumps)
  store<u32>(entry, load<u32>(entry, codeStreamTop) - moved, codeStreamTop)
  store<u32>(entry, load<u32>(entry, codeTop) - moved, codeTop)
  store<u32>(ctxCodeTop, load<u32>(entry, codeTop))
  if (load<u32>(entry, codeFlags) & hashedFlag) store<u32>(indexOf(entry), <u32>entry)
}
