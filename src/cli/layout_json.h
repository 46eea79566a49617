// Layouts as answers: text, and the JSON object with the whole table.
#pragma once

#include <tilus.h>

#include <string>

namespace tilus::cli {

enum class As { kText, kJson };

// Prints the canonical form of a layout. JSON is one line,
//     {"shape","mode_shape","spatial_modes","local_modes","threads","locals","table"}
// with table[t][i] = the index that thread t holds as its element i. Throws where the table has
// more than 2^24 integers; the text leaves a table out that does not fit a few screens.
void PrintLayout(const tilus_layout* layout, As as);

// "local(2,1).spatial(8,4)"
std::string LayoutText(const tilus_layout* layout);
// "16x8"
std::string ExtentsText(tilus_integers extents);

// For two layouts of one shape and number of threads that are not equal: the first element, in the
// order of threads and locals, that they place differently, as a part of a sentence.
std::string FirstDifferentElement(const tilus_layout* a, const tilus_layout* b);

}  // namespace tilus::cli
