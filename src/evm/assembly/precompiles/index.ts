// precompiles.wasm: arithmetic of precompiles for which no library is fast enough. Keeps nothing between calls except tables.

export { blake2Begin, blake2Finish, blake2Input, blake2Rounds } from './blake2'
export { modexpBegin, modexpFinish, modexpPiece, modexpPieceBytes, modexpRaise, modexpReserve, modexpShort, modexpTable } from './modexp'
export { p256Input, p256Verify } from './p256'
